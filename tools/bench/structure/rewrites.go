package main

// rewrite is a replacement whose result must still be code.
type rewrite struct{ find, new string }

// rewritten lists 200 replacements by the language whose parser checks the results. They were
// chosen before the first run. The templates are not meant to be useful: they move holes next to
// operators, dots and brackets, and into and out of brackets.
var rewritten = []struct {
	name, ext string
	rewrites  []rewrite
}{
	{"go", ".go", []rewrite{
		{`fmt.Sprintf($A, $$B)`, `text.Format($A, $$B)`}, {`errors.New($A)`, `failure($A)`}, {`len($A) == 0`, `isEmpty($A)`}, {`len($A) > 0`, `!isEmpty($A)`}, {`$A == nil`, `isNil($A)`},
		{`$A != nil`, `!isNil($A)`}, {`if err != nil { return err }`, `check(err)`}, {`if err != nil { $$B }`, `onError(func() { $$B })`}, {`append($A, $$B)`, `add($A, $$B)`}, {`$A.Close()`, `shut($A)`},
		{`defer $A.Unlock()`, `defer release($A)`}, {`strings.Contains($A, $B)`, `strings.Index($A, $B) >= 0`}, {`strings.HasPrefix($A, $B)`, `$A.StartsWith($B)`}, {`$A && $B`, `and($A, $B)`}, {`$A || $B`, `or($A, $B)`},
		{`!$A`, `not($A)`}, {`$A := $B`, `var $A = $B`}, {`$X = append($X, $$Y)`, `$X.Add($$Y)`}, {`for $A, $B := range $C { $$D }`, `$C.Each(func($A, $B any) { $$D })`}, {`if $A { $$B }`, `when($A, func() { $$B })`},
		{`return $A`, `return wrap($A)`}, {`go func() { $$A }()`, `start(func() { $$A })`}, {`func $A($$B) { $$C }`, `func New$A($$B) { begin(); $$C }`}, {`make($A, $B)`, `make($A, $B, $B)`}, {`t.Fatal($A)`, `check.Fail(t, $A)`},
		{`fmt.Errorf($$A)`, `wrapf($$A)`}, {`$A.Error()`, `text($A)`}, {`$A + $B`, `sum($A, $B)`}, {`string($A)`, `$A.String()`}, {`$A[$B]`, `$A.At($B)`},
		{`len($A)`, `$A.Len()`}, {`len($A)`, `$A.n + 1`}, {`$A - $B`, `$A + -$B`}, {`$A == $B`, `!($A != $B)`}, {`$A != $B`, `!equal($A, $B)`},
		{`$A < $B`, `$B > $A`}, {`$A >= $B`, `!less($A, $B)`}, {`$A += $B`, `$A = $A + $B`}, {`$A++`, `$A += 1`}, {`&$A`, `ref($A)`},
		{`*$A`, `$A.value`}, {`$A.($B)`, `as($A)`}, {`$A.String()`, `fmt.Sprint($A) + ""`}, {`strings.Join($A, $B)`, `$A.Join($B)`}, {`strings.TrimSpace($A)`, `$A.trimmed[0]`},
		{`strings.Split($A, $B)`, `$A.Split($B)[:]`}, {`filepath.Join($A, $$B)`, `path.New($A).Join($$B)`}, {`os.Getenv($A)`, `env[$A]`}, {`$A.Lock()`, `lock($A); begin()`}, {`t.Run($A, func(t *testing.T) { $$B })`, `sub(t, $A, func() { $$B })`},
		{`t.Errorf($$A)`, `t.Log(fmt.Sprintf($$A))`}, {`t.Fatalf($A, $$B)`, `fail(t, fmt.Sprintf($A, $$B))`}, {`panic($A)`, `fail(-1, $A)`}, {`defer $A`, `defer func() { $A }()`}, {`return $A, $B`, `return pair($A, $B)`},
		{`return nil, $A`, `return fail($A)`}, {`return nil`, `return ok()`}, {`for $A := range $B { $$C }`, `each($B, func($A any) { $$C })`}, {`switch $A { $$B }`, `switch kind($A) { $$B }`}, {`var $A $B`, `var $A, other $B`},
		{`const $A = $B`, `const $A = 1 * $B`}, {`[]string{$$A}`, `list($$A)`}, {`[]byte($A)`, `$A.bytes`}, {`func() { $$A }`, `func() { begin(); $$A }`}, {`$A.$B($$C)`, `call($A, $$C)`},
		{`if $A == nil { $$B }`, `if isNil($A) { $$B }`}, {`if !$A { $$B }`, `unless($A, func() { $$B })`},
	}},
	{"python", ".py", []rewrite{
		{`len($A)`, `size($A)`}, {`isinstance($A, $B)`, `$A.kind() is $B`}, {`$A is None`, `none($A)`}, {`$A is not None`, `not none($A)`}, {`not $A`, `neg($A)`},
		{`$A.append($B)`, `push($A, $B)`}, {`$A.get($B)`, `$A[$B]`}, {`str($A)`, `"%s" % $A`}, {`$A and $B`, `both($A, $B)`}, {`$A or $B`, `any([$A, $B])`},
		{`return $A`, `return wrap($A)`}, {`self.$A = $A`, `set(self, $A)`}, {`assert $A == $B`, `assert same($A, $B)`}, {`raise $A`, `raise wrap($A)`}, {`if not $C: $$BODY`, `if neg($C): $$BODY`},
		{`$A.items()`, `items($A)`}, {`getattr($A, $B, $C)`, `lookup($A, $B) or $C`}, {`$A == $B`, `eq($A, $B)`}, {`print($$A)`, `log($$A)`}, {`$A in $B`, `$B.has($A)`},
		{`$A.join($B)`, `join($B, $A)`}, {`super().__init__($$A)`, `Base.__init__(self, $$A)`}, {`$A.format($$B)`, `fmt($A, $$B)`}, {`$A = $B`, `$A = keep($B)`}, {`len($A)`, `$A.size`},
		{`len($A) == 0`, `not $A`}, {`$A == $B`, `not $A != $B`}, {`$A != $B`, `ne($A, $B)`}, {`$A not in $B`, `not $A in $B`}, {`$A + $B`, `add($A, $B)`},
		{`$A - $B`, `$A + -$B`}, {`$A % $B`, `$A.format($B)`}, {`$A * $B`, `$B * $A`}, {`$A < $B`, `$B > $A`}, {`$A[$B]`, `$A.items[$B]`},
		{`$A if $B else $C`, `choose($B, $A, $C)`}, {`lambda: $A`, `lambda: wrap($A)`}, {`if $C: $$BODY`, `if check($C): $$BODY`}, {`while $C: $$BODY`, `while check($C): $$BODY`}, {`for $A in $B: $$BODY`, `for $A in each($B): $$BODY`},
		{`with $A: $$BODY`, `with enter($A): $$BODY`}, {`with $A as $B: $$BODY`, `with enter($A) as $B: $$BODY`}, {`def $A($$B): $$BODY`, `def new_$A($$B): $$BODY`}, {`def $A(self): $$BODY`, `def get_$A(self): $$BODY`}, {`class $A: $$BODY`, `class New$A: $$BODY`},
		{`assert $A`, `assert bool($A)`}, {`assert $A is $B`, `assert $B is $A`}, {`raise ValueError($A)`, `fail($A)`}, {`return $A, $B`, `return pair($A, $B)`}, {`return None`, `return`},
		{`self.$A = $B`, `setattr(self, "$A", $B)`}, {`self.$A`, `self.fields.$A`}, {`$A.name`, `$A.names[0]`}, {`$A += $B`, `$A = $A + $B`}, {`$A.split($B)`, `split($A, $B)[0]`},
		{`$A.startswith($B)`, `$A[:1] == $B`}, {`$A.strip()`, `strip($A)`}, {`$A.update($$B)`, `merge($A, $$B)`}, {`dict($$A)`, `make($$A)`}, {`list($A)`, `[*$A]`},
		{`int($A)`, `$A.number`}, {`open($A, $$B)`, `opened($A).get($$B)`}, {`os.path.join($A, $B)`, `$A / $B`}, {`hasattr($A, $B)`, `$B in dir($A)`}, {`pytest.raises($A)`, `fails.with_($A)`},
		{`$A.$B($$C)`, `call($A, $$C)`}, {`yield $A`, `yield wrap($A)`},
	}},
	{"js", ".js", []rewrite{
		{`console.log($$A)`, `log($$A)`}, {`require($A)`, `load($A)`}, {`$A === $B`, `same($A, $B)`}, {`$A !== $B`, `!same($A, $B)`}, {`$A.map($B)`, `map($A, $B)`},
		{`!$A`, `not($A)`}, {`$A && $B`, `and($A, $B)`}, {`$A || $B`, `or($A, $B)`}, {`if ($A) { $$B }`, `if (check($A)) { begin(); $$B }`}, {`return $A`, `return wrap($A)`},
		{`new $A($$B)`, `make($A, $$B)`}, {`$A ? $B : $C`, `choose($A, $B, $C)`}, {`$A.length`, `size($A)`}, {`typeof $A`, `kind($A)`}, {`const $A = $B`, `let $A = keep($B)`},
		{`() => $A`, `() => wrap($A)`}, {`$A.push($B)`, `push($A, $B)`}, {`$A.length === 0`, `!$A.length`}, {`$A == null`, `isNull($A)`}, {`$A != $B`, `!equal($A, $B)`},
		{`$A == $B`, `!($A != $B)`}, {`$A + $B`, `sum($A, $B)`}, {`$A - $B`, `$A + -$B`}, {`$A * $B`, `$B * $A`}, {`$A % $B`, `mod($A, $B)`},
		{`$A < $B`, `$B > $A`}, {`$A > $B`, `!less($A, $B)`}, {`$A += $B`, `$A = $A + $B`}, {`$A++`, `$A += 1`}, {`$A = $B`, `$A = keep($B)`},
		{`var $A = $B`, `var $A = keep($B)`}, {`var $A = require($B)`, `var $A = load($B).all`}, {`let $A = $B`, `let $A = 1 * $B`}, {`$A[$B]`, `$A.at($B)`}, {`$A[0]`, `first($A)`},
		{`$A.call($B, $$C)`, `$A.bind($B)($$C)`}, {`$A.forEach($B)`, `each($A, $B)`}, {`$A.join($B)`, `$B.joined($A)`}, {`$A.indexOf($B)`, `$A.find($B) - 1`}, {`$A.slice($B)`, `$A.from + $B`},
		{`Object.keys($A)`, `$A.keys`}, {`Array.isArray($A)`, `$A instanceof Array`}, {`JSON.stringify($A)`, `text($A)`}, {`throw new Error($A)`, `throw failure($A)`}, {`throw $A`, `throw wrap($A)`},
		{`return null`, `return nothing()`}, {`return;`, `return undefined;`}, {`return !$A`, `return not($A)`}, {`function $A($$B) { $$C }`, `function $A($$B) { begin(); $$C }`}, {`function ($$A) { $$B }`, `function named($$A) { $$B }`},
		{`function () { $$A }`, `function () { begin(); $$A }`}, {`() => { $$A }`, `() => { begin(); $$A }`}, {`($$A) => { $$B }`, `wrap(($$A) => { $$B })`}, {`describe($A, function () { $$B })`, `suite($A, () => { $$B })`}, {`it($A, $B)`, `test($B, $A)`},
		{`assert.strictEqual($A, $B)`, `assert($A === $B)`}, {`expect($A)`, `$A.should`}, {`for (const $A of $B) { $$C }`, `for (const $A of each($B)) { $$C }`}, {`while ($A) { $$B }`, `while (check($A)) { begin(); $$B }`}, {`typeof $A === $B`, `$B === kind($A)`},
		{`$A instanceof $B`, `is($A, $B)`}, {`$A in $B`, `$B.has($A)`}, {`$A.$B($$C)`, `call($A, $$C)`}, {`$A.prototype.$B = $C`, `define($A, $C)`}, {`module.exports = $A`, `exports.all = $A`}, {`void 0`, `undefined`},
	}},
}
