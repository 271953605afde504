const std = @import("std");
pub const Store = struct {
    name: []const u8,
    pub fn open(self: *Store) !void {
        const local = 1;
    }
    const Mode = enum { on, off };
};
fn add(a: i32, b: i32) i32 { return a + b; }
test "adds" { _ = add(1, 2); }
