import './http/broadcast.test.ts';
import './http/discovery.test.ts';
import './http/guard-request.test.ts';
import './http/loopback-address.test.ts';
import './http/loopback-server.test.ts';
import './http/open-event-stream.test.ts';
import './http/private-files.test.ts';
import './http/read-event-stream.test.ts';
import './http/token.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
