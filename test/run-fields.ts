import './core/run/field-effects.test.ts';
import './core/run/network-policy.test.ts';
import './attest/public/public-run.test.ts';
import './attest/signer/keyless-run.test.ts';
