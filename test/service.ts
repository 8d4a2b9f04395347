import './service/bus.test.ts';
import './service/dirty-marks.test.ts';
import './service/docs.test.ts';
import './service/hostile-requests.test.ts';
import './service/hostile/clients.test.ts';
import './service/hostile/links.test.ts';
import './service/hostile/slow-requests.test.ts';
import './service/mark-paths.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
