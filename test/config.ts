import './core/config.test.ts';
import './core/run/workspace-dependencies.test.ts';
import './core/config/approvals-section.test.ts';
import './core/net.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
