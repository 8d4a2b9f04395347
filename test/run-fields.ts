import './core/run/field-effects.test.ts';
import './core/run/network-policy.test.ts';
import './attest/public/public-run.test.ts';
import './attest/signer/keyless-run.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
