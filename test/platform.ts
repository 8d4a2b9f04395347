import './core/platform/check-runtime.test.ts';
import './core/platform/language-runtime.test.ts';
import './core/platform/supported-os.test.ts';
import './core/run/checks-with-factors.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
