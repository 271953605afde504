package tool

import "context"

// Client is the calling program, with the name and version that it claims.
type Client struct {
	Name, Version string
	// Session identifies the connection, if there is one, so that its calls can be recognized as
	// related. The server chooses it, and it grants no access.
	Session string
}

type clientKey struct{}

// WithClient returns a context for calls from client c.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the calling client; the zero value means unknown.
func ClientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}
