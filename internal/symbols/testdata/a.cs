using Alias = App.Core.Store;
namespace App.Core
{
    [Serializable]
    public sealed class Store<T> : IStore where T : class
    {
        private readonly int count = 0;
        public int Count { get; set; }
        public string Name => "class X {}";
        public Store(int n) { count = n; }
        public async Task<T> FindAsync(string id) { return await Get(id); }
        public int Twice(int x) => x * 2;
        public interface IInner { void Run(); }
    }
    public enum Mode { A, B = 2 }
    public delegate void Handler(object o);
    public record Point(int X, int Y);
}
