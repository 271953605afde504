package zoekt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// gRPC is HTTP/2 with a frame of five bytes before each message and the outcome
// in the trailers. The standard library speaks HTTP/2, so this page of code
// stands for a library that would make the program a third larger.

const service = "/zoekt.webserver.v1.WebserverService/"

// maxMessage bounds one message. A server cuts a stream into messages of about
// 1 MB and one document more; the list of repositories is one message.
const maxMessage = 256 << 20

// Error is what a server answered instead of what was asked for.
type Error struct {
	Code    int // of gRPC
	Message string
}

func (e *Error) Error() string {
	if e.Message == "" {
		return "gRPC status " + strconv.Itoa(e.Code)
	}
	return fmt.Sprintf("%s (gRPC status %d)", e.Message, e.Code)
}

const deadlineExceeded = 4 // the status of a server that ran out of time itself

// retriable reports whether another replica may do better.
func (e *Error) retriable() bool {
	const invalidArgument, unimplemented = 3, 12
	return e.Code != invalidArgument && e.Code != unimplemented
}

// call sends one message and passes on each one that comes back.
func call(ctx context.Context, client *http.Client, base, method string, request []byte, receive func([]byte) error) error {
	frame := make([]byte, 5, 5+len(request))
	binary.BigEndian.PutUint32(frame[1:], uint32(len(request)))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+service+method, bytes.NewReader(append(frame, request...)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/grpc+proto")
	req.Header.Set("Te", "trailers")
	if deadline, ok := ctx.Deadline(); ok {
		// Eight digits at most: in milliseconds that is a day.
		ms := min(max(time.Until(deadline).Milliseconds(), 1), 99_999_999)
		req.Header.Set("Grpc-Timeout", strconv.FormatInt(ms, 10)+"m")
	}
	resp, err := client.Do(req)
	if err != nil {
		var detail *url.Error
		if errors.As(err, &detail) { // the address is said elsewhere
			err = detail.Err
		}
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("the server says %s: it wants credentials, or others", resp.Status)
	default:
		return fmt.Errorf("the server says %s, so it speaks no gRPC here", resp.Status)
	}
	for {
		message, err := readFrame(resp.Body)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := receive(message); err != nil {
			return err
		}
	}
	return outcome(resp)
}

// readFrame reads one message; io.EOF is the end between two.
func readFrame(r io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	switch {
	case head[0] != 0:
		return nil, errors.New("the server sent a compressed message without being asked")
	case size > maxMessage:
		return nil, fmt.Errorf("the server sent a message of %d MB", size>>20)
	}
	// What is announced need not come: the buffer grows with what does.
	var b bytes.Buffer
	b.Grow(int(min(size, 1<<20)))
	n, err := io.CopyN(&b, r, int64(size))
	if n < int64(size) {
		if err == io.EOF || err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b.Bytes(), nil
}

// outcome reads the status, which is in the headers when there is no message.
func outcome(resp *http.Response) error {
	status, from := resp.Trailer.Get("Grpc-Status"), resp.Trailer
	if status == "" {
		status, from = resp.Header.Get("Grpc-Status"), resp.Header
	}
	if status == "" {
		return errors.New("the server ended without a status: no gRPC is spoken here, or it was cut off")
	}
	code, err := strconv.Atoi(status)
	if err != nil {
		return fmt.Errorf("invalid status %q from the server", status)
	}
	if code == 0 {
		return nil
	}
	text := from.Get("Grpc-Message")
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return &Error{code, text}
}
