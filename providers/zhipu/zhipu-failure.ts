import { saidFailure } from '../wire/said-failure.ts';
import type { SaidFailure } from '../wire/wire-format.ts';

/** The inner codes: arrears, quotas, rates and overloads all come as HTTP 429 (docs.z.ai, Errors). */
const words = {
  byWord: {
    1000: 'key-refused',
    1001: 'key-refused',
    1002: 'key-refused',
    1003: 'key-refused',
    1004: 'key-refused',
    1110: 'forbidden',
    1111: 'forbidden',
    1112: 'forbidden',
    1113: 'no-credit',
    1120: 'overloaded',
    1121: 'forbidden',
    1200: 'server',
    1210: 'bad-request',
    1211: 'unknown-model',
    1212: 'bad-request',
    1213: 'bad-request',
    1214: 'bad-request',
    1215: 'bad-request',
    1220: 'forbidden',
    1230: 'server',
    1234: 'server',
    1261: 'too-large',
    // Its policy, and what it takes for unsafe.
    1300: 'bad-request',
    1301: 'bad-request',
    1302: 'rate-limited',
    1303: 'rate-limited',
    1304: 'quota-used-up',
    1305: 'overloaded',
    1308: 'quota-used-up',
    1309: 'no-credit',
    1310: 'quota-used-up',
    1311: 'forbidden',
    1312: 'overloaded',
    1313: 'forbidden',
  },
} as const;

/** `{error: {code: '1302', message}}`, read before the status. */
export function zhipuFailure(status: number | undefined, body: unknown): SaidFailure {
  return saidFailure(words, status, body);
}
