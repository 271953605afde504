package a.b
import x.y
const val LIMIT = 3
sealed class Shape(val n: Int) : Base(), Other {
    abstract fun area(): Double
    class Circle(val r: Double) : Shape(1) {
        override fun area() = 3.14 * r
    }
    companion object {
        fun of(s: String): Shape { return Circle(1.0) }
    }
}
fun interface Runner { fun run() }
enum class Mode { A, B }
suspend fun <T> List<T>.second(): T where T : Any = this[1]
object Single { val x = "fun no() {}" }
typealias Names = List<String>
