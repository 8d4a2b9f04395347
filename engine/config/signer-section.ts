import type { SignerConfig } from '../../core/contract/sealing-config.ts';
import type { SignerForm, SignerSetting } from '../../core/contract/signer.ts';
import type { TableReader } from './table-reader.ts';

/** How keys may be asked for, by the name of their source. */
export type SignerForms = ReadonlyMap<string, SignerForm>;

/** Reads `[signer]` as the sources of keys understand it. */
export function readSignerSection(reader: TableReader, forms: SignerForms): SignerConfig {
  const text = reader.has('key') ? reader.text('key', '') : '';
  const settings = readSettings(reader, forms);
  reader.end();
  const named = Object.fromEntries(settings.map(({ setting, value }) => [setting.name, value]));
  if (text === '') return { ...named, key: { form: unasked(forms) } };
  const colon = text.indexOf(':');
  const form = colon < 0 ? text : text.slice(0, colon);
  const source = forms.get(form);
  const key =
    source?.usage === undefined ? undefined : source.parse(colon < 0 ? undefined : text.slice(colon + 1));
  if (key === undefined || 'expected' in key) {
    reader.refuse(reader.at('key'), key?.expected ?? anyOf(forms));
    return { ...named, key: { form } };
  }
  for (const { owner, setting } of settings)
    if (owner !== form) reader.refuse(reader.at(setting.key), setting.misplaced);
  return { ...named, key };
}

interface ReadSetting {
  readonly owner: string;
  readonly setting: SignerSetting;
  readonly value: unknown;
}

function readSettings(reader: TableReader, forms: SignerForms): readonly ReadSetting[] {
  const read: ReadSetting[] = [];
  for (const [owner, { settings = [] }] of forms) {
    for (const setting of settings) {
      const text = reader.has(setting.key) ? reader.text(setting.key, '') : '';
      // What is no text was refused by the reader.
      if (text === '') continue;
      const found = setting.parse(text);
      if ('expected' in found) reader.refuse(reader.at(setting.key), found.expected);
      else read.push({ owner, setting, value: found.value });
    }
  }
  return read;
}

/** The source that answers where no key is configured; none has an empty name. */
function unasked(forms: SignerForms): string {
  return [...forms].find(([, { usage }]) => usage === undefined)?.[0] ?? '';
}

function anyOf(forms: SignerForms): string {
  const usages = [...forms.values()].flatMap(({ usage }) => (usage === undefined ? [] : [`\`${usage}\``]));
  return `expected ${usages.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;
}
