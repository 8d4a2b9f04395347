import './core/run/decide.test.ts';
import './core/run/read-reports.test.ts';
import './core/run/run-cases.test.ts';
import './core/run/run-edges.test.ts';
import './core/run/field-effects.test.ts';
