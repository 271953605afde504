export interface Opener<T> extends Base { open(name: string): Promise<T>; size?: number }
export type Id = string | { a: number };
export enum Mode { On = 1, Off }
declare module 'x' { function inside(a: string): void; }
namespace Util.Deep { export const x = 1; }
export abstract class Store<T> implements Opener<T> {
  constructor(private readonly n: number) { super(); }
  protected abstract later(): void;
  public open<K extends keyof T>(k: K): T[K] { return this.x as any; }
}
export const pick = <T,>(a: T): T => a;
export function over(a: string): void;
export function over(a: any): void { }
