package a.b
sealed trait Shape[F[_]] extends Base {
  def area: Double
  def +(o: Shape[F]): Shape[F] = o
}
case class Circle(r: Double) extends Shape[Id] {
  override def area: Double = {
    def local(x: Int) = x
    3.14
  }
  val n = 1
}
object Circle {
  implicit def show[A](implicit a: A): Show[A] = ???
  type Id[A] = A
}
