import t from 'tap';
import './bin/commands/demo.test.ts';
import './bin/commands/service-progress.test.ts';
import './bin/commands/verifying-page.test.ts';

// The last word of all files above: whole runs on a busy machine take their time.
t.setTimeout(240_000);
