import type { SignerConfig, SignerKey } from '../../core/contract/sealing-config.ts';
import { readServiceUrl } from './service-url.ts';
import type { TableReader } from './table-reader.ts';

/** Reads `[signer]`. A key file inside the repository is refused: whoever can read the repository could sign. */
export function readSignerSection(reader: TableReader): SignerConfig {
  const text = reader.has('key') ? reader.text('key', '') : '';
  const url = readServiceUrl(reader, 'fulcio_url');
  const fulcio = url === undefined ? {} : { fulcioUrl: url };
  reader.end();
  if (text === '') return { key: { form: 'default' }, ...fulcio };
  const key = parseSignerKey(text);
  if (typeof key !== 'string') {
    if (url !== undefined && key.form !== 'keyless')
      reader.refuse(reader.at('fulcio_url'), 'only `key = "keyless"` asks for certificates');
    return { key, ...fulcio };
  }
  reader.refuse(reader.at('key'), key);
  return { key: { form: 'default' }, ...fulcio };
}

function parseSignerKey(text: string): SignerKey | string {
  const colon = text.indexOf(':');
  const form = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? '' : text.slice(colon + 1);
  if (form === 'file' || form === 'ssh') {
    const settled = /^(?:~\/|\/)/.test(rest) && !rest.split('/').includes('..');
    return settled
      ? { form, path: rest }
      : `expected \`${form}:\` and an absolute path or one that begins with \`~/\``;
  }
  if (form === 'env') {
    return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(rest)
      ? { form, name: rest }
      : 'expected `env:` and the name of an environment variable';
  }
  if (form === 'agent') {
    if (colon < 0) return { form, wanted: undefined };
    const isMeant = rest.startsWith('SHA256:') ? /^SHA256:[A-Za-z0-9+/]{43}$/.test(rest) : rest.trim() !== '';
    return isMeant && rest.length <= 256
      ? { form, wanted: rest }
      : 'expected `agent`, or `agent:` and a fingerprint `SHA256:…` or the comment of a key';
  }
  if (text === 'keyless') return { form: 'keyless' };
  // The value is not repeated: someone may have pasted the key itself.
  return 'expected `file:PATH`, `ssh:PATH`, `env:NAME`, `agent[:FINGERPRINT or COMMENT]` or `keyless`';
}
