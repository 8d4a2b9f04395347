import type { ReadingBuilder } from '../reading.ts';
import { looseWhenOn, offByDefault, stateFlag } from '../sources/package-source.ts';

/** `.bundle/config`: mirrors, local copies instead of repositories, and switches that turn checks off. */
export function readBundleConfig(text: string, reading: ReadingBuilder): void {
  let number = 0;
  for (const raw of text.split(/\r\n|\r|\n/)) {
    number += 1;
    const found = /^\s*["']?(BUNDLE_\S*?)["']?\s*:\s+(.*)$/i.exec(raw);
    if (!found) continue;
    const key = (found[1] ?? '').toUpperCase();
    const value = (found[2] ?? '').trim().replace(/^(['"])(.*)\1$/, '$2');
    if (/^BUNDLE_(?:MIRROR__|LOCAL__|GEMFILE$|SSL_CA_CERT$|SSL_VERIFY_MODE$|PLUGINS?__|REDIRECT$)/.test(key))
      reading.source(key, value, { line: number });
    else if (key === 'BUNDLE_DISABLE_CHECKSUM_VALIDATION')
      stateFlag(reading, key, value, looseWhenOn, number);
    else if (/^BUNDLE_(?:FROZEN|DEPLOYMENT)$/.test(key)) stateFlag(reading, key, value, offByDefault, number);
  }
}
