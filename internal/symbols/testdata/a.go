package a

const (
	One = iota
	two
)

type Store[T any] struct {
	name, path string
	Other
}

type Opener interface {
	Open(name string) (*Store[int], error)
}

type ID = int

func New[T any](f func() struct{}) (*Store[T], error) {
	type local struct{}
	return nil, nil
}

func (s *Store[T]) Close() error { return nil }

var text = `func no() {}`
