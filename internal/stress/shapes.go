package stress

// Shapes are texts that a test repeats up to some megabytes. At each repetition, a naive parser of
// definitions would read ahead to the end of the text.
var Shapes = []string{
	"export const a = (\n", "struct { a: b,\n", "func f(a: b) -> {\n", "class A<B, C extends {\n", "a(b, c => {\n", "fn f<'a>(x: &'a T) where T: \n",
	"@a(b) public static void f(", "a<b<", "def f(a=[\n", "`${a(`", "case x: if (a) { let b = ", "#define A(x) \\\n",
}
