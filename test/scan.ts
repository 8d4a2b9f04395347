import t from 'tap';
import './core/scan/cut-diff.test.ts';
import './core/sarif/build-sarif.test.ts';

t.setTimeout(120_000);
