package main

// language is a language to compare, with ast-grep's name for it, the files, and patterns that both
// programs can express. The patterns were chosen before the first run.
type language struct {
	name     string
	globs    []string
	patterns []string
}

var languages = []language{
	{"go", []string{"*.go"}, []string{
		`fmt.Sprintf($A)`, `fmt.Sprintf($A, $B)`, `fmt.Sprintf($A, $$$B)`, `errors.New($A)`, `len($A)`, `append($A, $B)`, `append($A, $$$B)`, `make($A, $B)`,
		`$A.Close()`, `$A.String()`, `$A.Error()`, `$A.Lock()`, `defer $A.Unlock()`, `defer $A.Close()`, `$A.$B($$$C)`, `strings.Contains($A, $B)`,
		`strings.Split($A, $B)[0]`, `$A == nil`, `$A != nil`, `err != nil`, `len($A) == 0`, `len($A) > 0`, `$A && $B`, `$A || $B`, `!$A`,
		`if err != nil { return err }`, `if err != nil { $$$B }`, `if $A { $$$B }`, `for $A := range $B { $$$C }`, `for $A, $B := range $C { $$$D }`, `return nil`, `return $A`,
		`return nil, err`, `$A := $B`, `$A = $B`, `$A = append($A, $B)`, `var $A $B`, `func $A($$$B) { $$$C }`, `go func() { $$$A }()`, `$A[$B]`,
	}},
	{"ts", []string{"*.ts"}, []string{
		`console.log($A)`, `console.log($$$A)`, `expect($A).toBe($B)`, `expect($A).toEqual($B)`, `$A.map($B)`, `$A.filter($B)`, `$A.push($B)`, `$A.then($B)`,
		`await $A`, `new Error($A)`, `new $A($$$B)`, `throw new Error($A)`, `JSON.stringify($A)`, `Object.keys($A)`, `$A.length`, `$A.length === 0`,
		`$A === $B`, `$A !== $B`, `$A === undefined`, `$A === null`, `$A && $B`, `$A || $B`, `$A ?? $B`, `!$A`, `typeof $A`,
		`typeof $A === 'string'`, `if ($A) { $$$B }`, `if ($A) return $B`, `return $A`, `return null`, `const $A = $B`, `let $A = $B`,
		`const $A = await $B`, `$A = $B`, `$A ? $B : $C`, `async () => { $$$A }`, `() => $A`, `import $A from $B`, `$A as any`, `for (const $A of $B) { $$$C }`,
	}},
	{"python", []string{"*.py"}, []string{
		`print($A)`, `len($A)`, `isinstance($A, $B)`, `isinstance($A, str)`, `getattr($A, $B)`, `getattr($A, $B, $C)`, `super().__init__($$$A)`, `$A.get($B)`,
		`$A.append($B)`, `$A.items()`, `$A.join($B)`, `$A.format($$$B)`, `$A.$B($$$C)`, `str($A)`, `dict($$$A)`, `range($A)`,
		`$A is None`, `$A is not None`, `$A == $B`, `$A != $B`, `$A and $B`, `$A or $B`, `not $A`, `$A in $B`,
		`$A not in $B`, `len($A) == 0`, `if $A is None: $$$B`, `if not $A: $$$B`, `if $A: $$$B`, `return $A`, `return None`, `return $A.$B`,
		`raise $A`, `raise ValueError($A)`, `assert $A`, `assert $A == $B`, `$A = $B`, `self.$A = $B`, `self.$A = $A`, `$A[$B]`,
	}},
	{"rust", []string{"*.rs"}, []string{
		`$A.unwrap()`, `$A.clone()`, `$A.to_string()`, `$A.expect($B)`, `$A.len()`, `$A.is_empty()`, `$A.iter()`, `$A.map($B)`,
		`$A.push($B)`, `$A.as_ref()`, `$A.into()`, `Some($A)`, `Ok($A)`, `Err($A)`, `Ok(())`, `Vec::new()`,
		`String::from($A)`, `Box::new($A)`, `$A::new($$$B)`, `Arc::clone($A)`, `$A?`, `&$A`, `&mut $A`, `*$A`,
		`$A == $B`, `$A != $B`, `$A && $B`, `$A || $B`, `!$A`, `$A + $B`, `$A.len() == 0`, `return $A;`,
		`return Err($A);`, `if $A { $$$B }`, `for $A in $B { $$$C }`, `match $A { $$$B }`, `let $A = $B;`, `let mut $A = $B;`, `$A = $B`, `$A as usize`,
	}},
	{"java", []string{"*.java"}, []string{
		`assertThat($A).isEqualTo($B)`, `assertThat($A).isTrue()`, `assertEquals($A, $B)`, `System.out.println($A)`, `$A.get($B)`, `$A.equals($B)`, `$A.toString()`, `$A.size()`,
		`$A.add($B)`, `$A.put($B, $C)`, `$A.getClass()`, `$A.$B($$$C)`, `Objects.requireNonNull($A)`, `String.valueOf($A)`, `new $A()`, `new $A($$$B)`,
		`new ArrayList<>()`, `new StringBuilder()`, `throw new $A($B)`, `throw new IllegalArgumentException($A)`, `$A == null`, `$A != null`, `$A == $B`, `$A && $B`,
		`$A || $B`, `!$A`, `$A instanceof $B`, `$A + $B`, `$A.length()`, `if ($A) { $$$B }`, `if ($A == null) { $$$B }`, `if ($A != null) { $$$B }`,
		`return $A;`, `return null;`, `return this;`, `this.$A = $A;`, `$A = $B`, `$A++`, `for ($A : $B) { $$$C }`, `while ($A) { $$$B }`,
	}},
	{"c", []string{"*.c", "*.h"}, []string{
		`strlen($A)`, `strcmp($A, $B)`, `memcpy($A, $B, $C)`, `zfree($A)`, `zmalloc($A)`, `printf($A)`, `printf($A, $$$B)`, `sizeof($A)`,
		`serverAssert($A)`, `addReply($A, $B)`, `sdslen($A)`, `memset($A, 0, $B)`, `snprintf($A, $B, $$$C)`, `$A->ptr`, `$A->len`, `$A == NULL`,
		`$A != NULL`, `$A == 0`, `$A < $B`, `$A > $B`, `$A && $B`, `$A || $B`, `!$A`, `$A + $B`,
		`$A - 1`, `$A++`, `$A[$B]`, `strcmp($A, $B) == 0`, `$A = $B`, `$A += $B`, `$A->$B = $C`, `return $A;`,
		`return 0;`, `return NULL;`, `if ($A) return;`, `if ($A) return $B;`, `if ($A) { $$$B }`, `while ($A) { $$$B }`, `for ($A; $B; $C) { $$$D }`, `$A ? $B : $C`,
	}},
}
