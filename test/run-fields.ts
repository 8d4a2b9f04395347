import './core/run/field-effects.test.ts';
import './core/run/network-policy.test.ts';
