package tool

import "context"

// Client is the program that calls, as it introduced itself.
type Client struct {
	Name, Version string
	// Session names the connection, if there is one: calls that belong together
	// have the same. It is a name of our own and opens nothing.
	Session string
}

type clientKey struct{}

// WithClient returns a context whose calls are made by a client.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the client that calls; the zero value is unknown.
func ClientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}
