package tool

import "context"

// Client is the calling program, as it introduced itself.
type Client struct {
	Name, Version string
	// Session names the connection, if there is one: related calls share it. It is our own
	// name and gives no access.
	Session string
}

type clientKey struct{}

// WithClient returns a context for the calls of a client.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the calling client; the zero value means unknown.
func ClientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}
