#!/bin/sh
open_file() {
	case "$1" in
	a) echo "function no() {" ;;
	esac
	cat <<EOF
no() {
}
EOF
}
function close-it {
	x=${a#*\}}
}
alias ll='ls -l'
