package owner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// On Windows, processes connect through a named pipe, because its access list can limit
// connections to one user. The pipe's name is computed from the user and the path that a
// socket would have, so that different users' pipes don't collide.
func pipeName(socket string, user *windows.SID) string {
	sum := sha256.Sum256([]byte(strings.ToLower(socket) + "\x00" + user.String()))
	return `\\.\pipe\quarry-` + hex.EncodeToString(sum[:16])
}

func me() (*windows.SID, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return user.User.Sid, nil
}

// pipeBuffer is how many bytes one side can write before the other reads.
const pipeBuffer = 64 << 10

// pipeListener always has an instance of the pipe waiting for a client. So a client may
// find the pipe busy, but never missing.
type pipeListener struct {
	name   string
	rights *windows.SecurityAttributes
	quit   windows.Handle
	once   sync.Once

	mu   sync.Mutex // only one Accept at a time
	next windows.Handle
}

// listenAt listens on the pipe. It fails if another process already does, since only one
// can.
func listenAt(socket string) (net.Listener, error) {
	user, err := me()
	if err != nil {
		return nil, err
	}
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;GA;;;" + user.String() + ")")
	if err != nil {
		return nil, err
	}
	l := &pipeListener{name: pipeName(socket, user)}
	l.rights = &windows.SecurityAttributes{Length: uint32(unsafe.Sizeof(windows.SecurityAttributes{})), SecurityDescriptor: sd}
	if l.quit, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		return nil, err
	}
	if l.next, err = l.end(windows.FILE_FLAG_FIRST_PIPE_INSTANCE); err != nil {
		windows.CloseHandle(l.quit)
		return nil, err
	}
	return l, nil
}

// end creates another instance of the pipe.
func (l *pipeListener) end(flags uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(l.name)
	if err != nil {
		return 0, err
	}
	return windows.CreateNamedPipe(name, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flags,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, windows.PIPE_UNLIMITED_INSTANCES, pipeBuffer, pipeBuffer, 0, l.rights)
}

func (l *pipeListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == 0 {
		return nil, net.ErrClosed
	}
	if err := l.wait(); err != nil {
		windows.CloseHandle(l.next)
		l.next = 0
		windows.CloseHandle(l.quit)
		return nil, err
	}
	conn := l.next
	next, err := l.end(0)
	if err != nil {
		windows.CloseHandle(conn)
		l.next = 0
		return nil, err
	}
	l.next = next
	return &pipeConn{os.NewFile(uintptr(conn), l.name)}, nil
}

// wait waits until a client connects to the waiting instance.
func (l *pipeListener) wait() error {
	event, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(event)
	o := &windows.Overlapped{HEvent: event}
	switch err := windows.ConnectNamedPipe(l.next, o); err {
	case nil, windows.ERROR_PIPE_CONNECTED, windows.ERROR_NO_DATA: // a client is already connected, or has disconnected again
		return nil
	case windows.ERROR_IO_PENDING:
	default:
		return err
	}
	at, err := windows.WaitForMultipleObjects([]windows.Handle{l.quit, event}, false, windows.INFINITE)
	if err == nil && at == windows.WAIT_OBJECT_0 {
		err = net.ErrClosed
	}
	var n uint32
	if err != nil {
		windows.CancelIoEx(l.next, o)
		windows.GetOverlappedResult(l.next, o, &n, true) // the system uses o until then
		return err
	}
	return windows.GetOverlappedResult(l.next, o, &n, true)
}

// Close makes Accept fail.
func (l *pipeListener) Close() error {
	l.once.Do(func() { windows.SetEvent(l.quit) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.name) }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

// pipeConn is one end of a connection. Deadlines work because the file was opened for
// overlapped I/O.
type pipeConn struct{ *os.File }

func (c *pipeConn) LocalAddr() net.Addr  { return pipeAddr(c.Name()) }
func (c *pipeConn) RemoteAddr() net.Addr { return pipeAddr(c.Name()) }

// dialAt connects to the owner. It waits for a moment if the owner is busy with another
// client. The owner can't impersonate this process.
func dialAt(socket string, timeout time.Duration) (net.Conn, error) {
	user, err := me()
	if err != nil {
		return nil, err
	}
	name := pipeName(socket, user)
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	const anonymous = windows.SECURITY_SQOS_PRESENT | windows.SECURITY_ANONYMOUS
	for end := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_OVERLAPPED|anonymous, 0)
		if err == nil {
			return &pipeConn{os.NewFile(uintptr(h), name)}, nil
		}
		if err != windows.ERROR_PIPE_BUSY || time.Now().After(end) {
			return nil, err
		}
	}
}

// samePeer returns an error if the process at the other end belongs to another user. The
// access list prevents other users from connecting to our pipe; this check detects a pipe
// of the same name made by another user.
func samePeer(conn net.Conn) error {
	raw, err := conn.(*pipeConn).SyscallConn()
	if err != nil {
		return err
	}
	var pid uint32
	var pidErr error
	if err := raw.Control(func(fd uintptr) { pid, pidErr = otherEnd(windows.Handle(fd)) }); err != nil {
		return err
	}
	if pidErr != nil {
		return pidErr
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return err
	}
	defer token.Close()
	theirs, err := token.GetTokenUser()
	if err != nil {
		return err
	}
	ours, err := me()
	if err != nil {
		return err
	}
	if !ours.Equals(theirs.User.Sid) {
		return fmt.Errorf("the other end belongs to %s", theirs.User.Sid)
	}
	return nil
}

// otherEnd returns the id of the process at the other end of a pipe.
func otherEnd(pipe windows.Handle) (pid uint32, err error) {
	var flags uint32
	if err := windows.GetNamedPipeInfo(pipe, &flags, nil, nil, nil); err != nil {
		return 0, err
	}
	if flags&windows.PIPE_SERVER_END != 0 {
		err = windows.GetNamedPipeClientProcessId(pipe, &pid)
	} else {
		err = windows.GetNamedPipeServerProcessId(pipe, &pid)
	}
	return pid, err
}
