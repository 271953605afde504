package change

import "time"

// Back is a point to go back to: undo undoes every change after it, as one change.
type Back struct {
	// After is the id of the last change to keep. If it is "", changes made up to Since
	// are kept.
	After string
	Since time.Time
	// Upto is the id of the last change to undo; "" means the newest.
	Upto string
	// By restricts the undo to the changes of one author, as returned by Change.Author.
	By string
	// Only, if not nil, restricts the undo to the changes with these ids.
	Only []string
	// Name is the point's name in messages.
	Name string
}

// Author made some of the changes that are undone.
type Author struct {
	Name    string   `json:"name"` // of a client, or one of the names below
	Changes int      `json:"changes"`
	Files   []string `json:"files"`
}

// GitMoved begins the text of an action of Outside if git checked out another commit.
const GitMoved = "git moved"

// Names of authors that are not clients.
const (
	AnotherProgram = "another program"
	Yourself       = "you" // changes at a shell or on the page, without a client
)

// Point is a named moment.
type Point struct {
	Name  string    `json:"name"`
	After string    `json:"after,omitempty"` // the last change at that time
	Time  time.Time `json:"time"`
}

// Author names the author of a change in the form of Back.By: a client, AnotherProgram or
// Yourself.
func (c *Change) Author() string {
	switch {
	case c.Client.Name != "":
		return c.Client.Name
	case c.Outside:
		return AnotherProgram
	}
	return Yourself
}
