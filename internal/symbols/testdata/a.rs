use std::fmt;
#[derive(Debug)]
pub struct Store<'a, T: Fn(i32) -> i32> {
    pub name: &'a str,
}
pub(crate) enum Mode { On, Off(u8) }
impl<'a, T> fmt::Display for Store<'a, T> where T: Fn(i32) -> i32 {
    fn fmt(&self) -> fmt::Result { let c = '{'; Ok(()) }
}
pub trait Opener { fn open(&self) -> bool; type Item; const N: usize; }
pub async unsafe fn run<T>(x: T) -> impl Future where T: Send { r#"fn no() {}"#; }
macro_rules! vec2 { () => {}; }
mod inner { pub static COUNT: u32 = 1; }
type Alias = Vec<u8>;
