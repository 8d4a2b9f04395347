import './core/frame/domain-rules.test.ts';
import './core/frame/imports/javascript-imports.test.ts';
import './core/frame/imports/python-imports.test.ts';
import './core/frame/import-graph.test.ts';
import './core/frame/hints/find-symbols.test.ts';
import './core/frame/hints/api-urls.test.ts';
import './core/frame/expand-hints.test.ts';
import './core/frame/frame-window.test.ts';
import './core/frame/context-frames.test.ts';
import './core/frame/take-context.test.ts';
import './core/frame/run-metrics.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
