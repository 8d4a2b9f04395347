import t from 'tap';
import './core/scan/anchor-search.test.ts';
import './core/scan/cut-diff.test.ts';
import './core/scan/find-unread.test.ts';
import './core/scan/mark-lines.test.ts';
import './core/sarif/build-sarif.test.ts';
import './core/sarif/github-ingestion.test.ts';
import './gates/sast/labelled-rows.test.ts';
import './gates/sast/sast-report.test.ts';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
