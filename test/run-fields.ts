import './core/run/field-effects.test.ts';
