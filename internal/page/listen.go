package page

import (
	"errors"
	"net"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// Listen listens on a port of this machine only; port 0 means any free port.
//
// Another program may have left data in the browser for the same address and port. A service
// worker, for example, would see all requests. So in each run the page has a name of its own below
// localhost. Browsers resolve such names themselves and try ::1 first, so the port must also be
// free on ::1, or this server has to listen there.
func Listen(port int) (net.Listener, error) {
	for try := 0; ; try++ {
		v4, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return nil, err
		}
		l := &loopback{Listener: v4, named: ownNames}
		at := v4.Addr().(*net.TCPAddr).Port
		v6, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(at)))
		switch {
		case err == nil:
			l.also(v6)
		case !errors.Is(err, syscall.EADDRINUSE): // IPv6 is unavailable
		case port == 0 && try < 20:
			v4.Close()
			continue
		default:
			l.named = false
		}
		return l, nil
	}
}

// ownNames reports whether browsers here resolve names below localhost themselves. Safari asks the
// system, which does not know these names.
const ownNames = runtime.GOOS != "darwin" && runtime.GOOS != "ios"

// loopback is a listener on 127.0.0.1 and ::1.
type loopback struct {
	net.Listener // 127.0.0.1
	named        bool

	v6    net.Listener
	conns chan accepted
	done  chan struct{}
	once  sync.Once
}

type accepted struct {
	conn net.Conn
	err  error
}

func (l *loopback) also(v6 net.Listener) {
	l.v6, l.conns, l.done = v6, make(chan accepted), make(chan struct{})
	for _, one := range []net.Listener{l.Listener, v6} {
		go func() {
			for {
				c, err := one.Accept()
				select {
				case l.conns <- accepted{c, err}:
				case <-l.done:
					if err == nil {
						c.Close()
					}
					return
				}
			}
		}()
	}
}

func (l *loopback) Accept() (net.Conn, error) {
	if l.v6 == nil {
		return l.Listener.Accept()
	}
	select {
	case a := <-l.conns:
		return a.conn, a.err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *loopback) Close() error {
	err := l.Listener.Close()
	if l.v6 != nil {
		l.once.Do(func() {
			close(l.done)
			err = errors.Join(err, l.v6.Close())
		})
	}
	return err
}
