import './core/tool/shell.test.ts';
import './core/tool/acl.test.ts';
import './core/tool/check-environment.test.ts';
import './core/tool/plainly-allowed.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
