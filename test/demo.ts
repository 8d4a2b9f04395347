import t from 'tap';
import './bin/commands/demo.test.ts';
import './bin/commands/service-progress.test.ts';
import './bin/commands/verifying-page.test.ts';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
