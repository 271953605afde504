package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"quarry/internal/value"
)

// Value is the value of a key.
type Value struct {
	Text string   // in the form accepted by the flag of the same name
	List []string // the items, if the kind is List
}

// format formats the value for quarry.toml.
func (v Value) format(k Kind) string {
	switch k {
	case Text:
		return strconv.Quote(v.Text)
	case Duration:
		return strconv.Quote(ShortDuration(v.Text))
	case Size:
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return strconv.Quote(SizeText(n))
		}
	case List:
		quoted := make([]string, len(v.List))
		for i, s := range v.List {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return v.Text
}

// node converts the value for package value.
func (v Value) node(k Kind) *value.Node {
	switch k {
	case Bool:
		return &value.Node{Kind: value.Bool, Text: v.Text}
	case Int:
		return &value.Node{Kind: value.Number, Text: v.Text}
	case Duration:
		return value.Str(ShortDuration(v.Text))
	case Size:
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return value.Str(SizeText(n))
		}
	case List:
		items := make([]*value.Node, len(v.List))
		for i, s := range v.List {
			items[i] = value.Str(s)
		}
		return value.ListOf(items...)
	}
	return value.Str(v.Text)
}

// ShortDuration removes the zero parts of a formatted duration: 1h instead of 1h0m0s.
func ShortDuration(s string) string {
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 48*time.Hour && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return s
}

// parseText parses a value given as a single text: an environment variable, or a string
// in the file.
func (k *Key) parseText(s string) (Value, error) {
	switch k.Kind {
	case Bool:
		switch strings.ToLower(s) {
		case "true", "1", "yes", "on":
			return Value{Text: "true"}, nil
		case "false", "0", "no", "off":
			return Value{Text: "false"}, nil
		}
		return Value{}, fmt.Errorf("%q is neither true nor false", s)
	case Int:
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return Value{}, fmt.Errorf("invalid number %q: write 0 or more", s)
		}
		return Value{Text: strconv.Itoa(n)}, nil
	case List:
		return Value{List: splitList(s)}, nil
	case Duration:
		d, err := ParseDuration(s)
		return Value{Text: d.String()}, err
	case Size:
		n, err := ParseSize(s)
		return Value{Text: strconv.FormatInt(n, 10)}, err
	}
	return Value{Text: s}, k.choose(s)
}

// choose returns an error if a text is not one of Choices.
func (k *Key) choose(s string) error {
	if len(k.Choices) == 0 {
		return nil
	}
	for _, c := range k.Choices {
		if s == c {
			return nil
		}
	}
	err := fmt.Errorf("%q is none of %s", s, strings.Join(k.Choices, ", "))
	if near := Nearest(s, k.Choices); near != "" {
		err = fmt.Errorf("%w: did you mean %q?", err, near)
	}
	return err
}

// splitList splits a text at commas, except in braces, as in the glob {a,b}.
func splitList(s string) []string {
	var list []string
	depth, start := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s) || s[i] == ',' && depth == 0:
			if item := strings.TrimSpace(s[start:i]); item != "" {
				list = append(list, item)
			}
			start = i + 1
		case s[i] == '{':
			depth++
		case s[i] == '}' && depth > 0:
			depth--
		}
	}
	return list
}

// ParseDuration is time.ParseDuration with an additional unit d for days.
func ParseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err == nil && n >= 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("invalid time %q: write 90s, 1h or 30d", s)
	}
	return d, nil
}

var errSize = errors.New("write a size as 512KB, 256MB or 2GB")

// ParseSize parses a number of bytes, or a number with the unit KB, MB or GB. Units are
// powers of 1024.
func ParseSize(s string) (int64, error) {
	number, unit := strings.TrimSpace(s), int64(1)
	for i, suffix := range []string{"KB", "MB", "GB"} {
		if rest, ok := strings.CutSuffix(strings.ToUpper(number), suffix); ok {
			number, unit = strings.TrimSpace(rest), 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("invalid size %q: %w", s, errSize)
	}
	return n * unit, nil
}

// SizeText formats a size in the format read by ParseSize.
func SizeText(n int64) string {
	for i, suffix := range []string{"GB", "MB", "KB"} {
		unit := int64(1) << (10 * (3 - i))
		if n >= unit && n%unit == 0 {
			return fmt.Sprintf("%d%s", n/unit, suffix)
		}
	}
	return strconv.FormatInt(n, 10)
}
