import Foundation
public protocol Drawable: AnyObject {
    func draw(in rect: CGRect) throws
}
public final class View: Drawable, Codable {
    private var size: Int { return 1 }
    let name = "class X {}"
    init?(frame: CGRect) { }
    public func draw(in rect: CGRect) throws { }
    enum Mode { case on, off(Int) }
}
extension View where Self: Other {
    static func == (a: View, b: View) -> Bool { true }
}
struct Point<T> { }
typealias P = Point<Int>
