package a.b;
import java.util.List;
/** Doc. */
@Deprecated
public abstract class A<T extends Comparable<T>> implements B {
  private static final int MAX = 3;
  public A(int x) { this.x = x; }
  @Override
  public <R> List<R> map(Function<T, R> f) throws IOException {
    return new ArrayList<>() { };
  }
  abstract void later();
  enum Mode { ONE(1), TWO { void x() {} }; private final int n; Mode(int n) { } }
  interface Inner { int run(); }
  record Point(int x, int y) { }
  @interface Mark { String value() default "x"; }
}
