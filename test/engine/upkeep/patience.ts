import t from 'tap';

// Run directly, tap ends a file after 30 seconds, and the first run of a sample on two busy cores takes a part of that
// before any test begins.
t.setTimeout(240_000);
