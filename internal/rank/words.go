package rank

import (
	"strings"
	"sync"

	"quarry/internal/terms"
)

// alternatives are the terms that stand for a word in code: short forms that
// programmers write, and the long forms of short ones.
func alternatives(word, text string) []string {
	var out []string
	add := func(s string) {
		t := string(terms.Append(nil, []byte(s)))
		if t != text {
			for _, o := range out {
				if o == t {
					return
				}
			}
			out = append(out, t)
		}
	}
	for _, s := range shortForms()[text] {
		add(s)
	}
	return out
}

// shortForms lists, by term, the other ways a word is written in names.
var shortForms = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for _, line := range strings.Split(shortFormLines, "\n") {
		words := strings.Fields(line)
		for _, w := range words {
			t := string(terms.Append(nil, []byte(w)))
			for _, o := range words {
				if o != w {
					m[t] = append(m[t], o)
				}
			}
		}
	}
	return m
})

// Each line has the forms of one word.
const shortFormLines = `authentication auth authenticate
authorization authz authorize
configuration config cfg conf configure
directory dir folder
database db
message msg
request req
response resp
parameter param
argument arg
initialize init initialization
utility util utils
document doc documentation
environment env
synchronization sync synchronize
asynchronous async
application app
administrator admin
temporary temp tmp
string str
number num
integer int
boolean bool
character char
function func fn
variable var
reference ref
pointer ptr
memory mem
allocate alloc allocation
buffer buf
command cmd
context ctx
connection conn
execute exec execution
expression expr
format fmt
information info
iterator iter
length len
library lib
maximum max
minimum min
object obj
operation op
option opt
previous prev
process proc
property prop
reader rd
receive recv
repository repo
source src
destination dst dest
standard std
statistics stats stat
statement stmt
template tmpl
transaction txn tx
validate validation validator
value val
vector vec
address addr
attribute attr
average avg
background bg
calculate calc
certificate cert
column col
compare cmp comparison
declaration decl
definition def
delete del remove
dependency dep deps
description desc
device dev
difference diff
error err exception
extension ext
generate gen generator
identifier id ident
image img
implementation impl
index idx
instance inst
interface iface
internationalization i18n
language lang
locale locales
manager mgr
multiple multi
network net
package pkg
password passwd pwd
permission perm
position pos
query qry
register reg
regular regex regexp
result res
sequence seq
serialize serialization serializer
server srv
session sess
specification spec
subscription sub subscribe
symbol sym
system sys
terminal tty term
user usr
version ver
websocket ws
window win
multipurpose mime
`
