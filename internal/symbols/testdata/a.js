import x from 'x';
export const LIMIT = 3;
export default class Store extends Base {
  #secret = 1;
  static count = 0;
  constructor(a) { super(a); }
  async *items() { yield `class ${ {a: 1}.a } X {`; }
  get size() { return /[/]function no() {/.test(''); }
  handler = (e) => { };
}
function* gen() { function inner() {} }
const add = (a, b) => a + b;
export const run = async function () { };
Store.prototype.open = function () { };
exports.close = () => {};
const obj = {
  method() { return 1; },
  other: function () {},
};
Store.limit = 3;
module.exports = function createStore() { return obj; };
const visitor = {
  'Program:exit'(node) { },
  "quoted": function () {},
  'short': (x) => { },
  type: function () {},
};
Store.prototype.type = function () { };
