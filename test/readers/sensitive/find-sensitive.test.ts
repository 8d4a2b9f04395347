import t from 'tap';
import { sensitiveClasses } from '../../../core/interfaces/privacy.ts';
import { findSensitive } from '../../../readers/sensitive/find-sensitive.ts';
import { findNumbers } from '../../../readers/sensitive/personal/find-numbers.ts';

const classes = new Set(sensitiveClasses);

/** `class:rule=value` of everything found, without what lies inside another. */
function found(text: string, words = {}): readonly string[] {
  const bytes = Buffer.from(text);
  return findSensitive(bytes, { classes, words }).map(
    (match) => `${match.class}:${match.rule}=${bytes.toString('utf8', match.start, match.end)}`,
  );
}

/** What is found, and a neighbour of it that must not be: a digit changed, a rule of the issuer broken. */
const numbers: readonly (readonly [rule: string, valid: string, invalid: string])[] = [
  ['pii:iban', 'DE89 3704 0044 0532 0130 00', 'DE88 3704 0044 0532 0130 00'],
  ['pii:iban', 'GB82WEST12345698765432', 'GB82WEST12345698765431'],
  ['pii:iban', 'FR1420041010050500013M02606', 'FR1420041010050500013M02607'],
  ['pii:card-number', '4111 1111 1111 1111', '4111 1111 1111 1112'],
  ['pii:card-number', '378282246310005', '378282246310006'],
  ['pii:card-number', '5555-5555-5555-4444', '1555-5555-5555-4448'],
  ['pii:card-number', '30569309025904', '30569309025905'],
  ['pii:us-ssn', '123-45-6789', '000-45-6789'],
  ['pii:us-ssn', '219-09-9999', '666-09-9999'],
  ['pii:us-itin', '912-70-1234', '912-10-1234'],
  ['pii:fr-nir', '1 84 12 76 451 089 46', '1 84 12 76 451 089 47'],
  ['pii:uk-nino', 'AB123456C', 'BG123456C'],
  ['pii:es-dni', '12345678Z', '12345678A'],
  ['pii:es-nie', 'X1234567L', 'X1234567A'],
  ['pii:it-codice-fiscale', 'RSSMRA85T10A562S', 'RSSMRA85T10A562T'],
  ['pii:be-nrn', '85.07.30-033.28', '85.07.30-033.29'],
  ['pii:se-personnummer', '811218-9876', '811218-9875'],
  ['pii:fi-hetu', '131052-308T', '131052-308U'],
  ['pii:ch-ahv', '756.9217.0769.85', '756.9217.0769.84'],
  ['pii:br-cpf', '529.982.247-25', '529.982.247-26'],
];

t.test('finds a number with valid check digits but not its invalid neighbour', async (t) => {
  for (const [rule, valid, invalid] of numbers) {
    for (const text of [valid, `value: ${valid}, next`, `{"v":"${valid}"}`, `(${valid})\n`])
      t.ok(found(text).includes(`${rule}=${valid}`), `${rule} in ${text}`);
    t.notOk(
      found(`value: ${invalid}, next`).some((one) => one.startsWith(`${rule}=`)),
      `${rule} not in ${invalid}`,
    );
  }
});

t.test('finds a number anywhere in a long row of numbers', async (t) => {
  for (let before = 0; before < 60; before += 1) {
    const text = `${'17 '.repeat(before)}4111 1111 1111 1111 ${'17 '.repeat(9)}`;
    t.ok(found(text).includes('pii:card-number=4111 1111 1111 1111'), String(before));
  }
});

t.test('a bare number counts only after its keyword and with valid check digits', async (t) => {
  for (const [rule, word, valid, invalid] of [
    ['us-ssn', 'SSN', '123456789', '000456789'],
    ['de-tax-id', 'Steuer-ID', '86095742719', '86095742718'],
    ['nl-bsn', 'BSN', '111222333', '111222334'],
    ['pl-pesel', 'PESEL', '44051401359', '44051401358'],
    ['in-aadhaar', 'Aadhaar', '2341 2341 2346', '2341 2341 2347'],
    ['ca-sin', 'SIN', '130 692 544', '130 692 545'],
  ] as const) {
    t.same(found(`${word}: ${valid}`), [`pii:${rule}=${valid}`]);
    t.same(found(`size: ${valid.replaceAll(' ', '')}`), [], `${valid} alone`);
    t.same(found(`${word}: ${invalid}`), [], invalid);
  }
});

t.test('finds email and IP addresses, phone numbers and dates of birth', async (t) => {
  t.same(found('ask jane.doe+x@corp.io or jürgen@firma.de.'), [
    'pii:email=jane.doe+x@corp.io',
    'pii:email=jürgen@firma.de',
  ]);
  t.same(found('+49 30 901820, (415) 555-2671, +14155552671, 01 23 45 67 89'), [
    'pii:phone=+49 30 901820',
    'pii:phone=(415) 555-2671',
    'pii:phone=+14155552671',
    'pii:phone=01 23 45 67 89',
  ]);
  t.same(found('Tel.: 030/901820'), ['pii:phone=030/901820']);
  t.same(found('born 1984-03-12'), ['pii:date-of-birth=1984-03-12'], 'from its first digit');
  t.same(found('DOB: 1980-02-03; born on 3 March 1980; "birthDate": "03/02/1980"'), [
    'pii:date-of-birth=1980-02-03',
    'pii:date-of-birth=3 March 1980',
    'pii:date-of-birth=03/02/1980',
  ]);
  t.same(found('from 8.8.4.4 and 2a00:1450:4001:81b::200e'), [
    'pii:ip-address=8.8.4.4',
    'pii:ip-address=2a00:1450:4001:81b::200e',
  ]);
});

t.test('ignores text that only resembles personal data', async (t) => {
  for (const text of [
    'git@github.com:org/repo.git pkg@1.2.3 icon@2x.png @scope/name',
    '127.0.0.1 10.1.2.3 192.168.1.1:8080 203.0.113.7 v1.2.3.4 version 10.0.19041.1 2001:db8::1',
    '2026-11-21T07:48:10.123Z 1732175338123 0.1234567890123 12345678 bytes',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '123e4567-e89b-12d3-a456-426614174000 sha1-2fd4e1c67a2d28fced849ee1bb76e7391b93eb12',
    'Data.CONFIDENTIAL, isConfidential, "CONFIDENTIAL", internal only once',
    'E11.9 is a version, and so is patient zero',
    '# tests 12 ok 100 1..99 12:34:56',
  ])
    t.same(found(text), [], text);
});

t.test('finds health data after health terms or beside a person', async (t) => {
  t.same(found('NHS number: 943 476 5919').at(-1), 'phi:nhs-number=943 476 5919');
  t.notOk(found('NHS number: 943 476 5918').some((one) => one.startsWith('phi:')));
  t.same(found('MRN: 00123456'), ['phi:medical-record-number=00123456']);
  t.same(found('diagnosis: E11.9, ICD-10 J45'), ['phi:icd-10=E11.9', 'phi:icd-10=J45']);
  t.same(found('patient: Jane, metformin'), ['phi:health-term=metformin']);
  t.same(found('jane@corp.io takes insulin'), ['pii:email=jane@corp.io', 'phi:health-term=insulin']);
  t.same(found('a library for diabetes research'), []);
});

t.test('a marking covers its paragraph, and configured words are found verbatim', async (t) => {
  t.same(found('# CONFIDENTIAL\nplan\n\nrest'), ['confidential:marking=CONFIDENTIAL\nplan']);
  t.same(found('TLP:AMBER+STRICT names'), ['confidential:marking=TLP:AMBER+STRICT names']);
  t.same(found('INTERNAL USE ONLY\n'), ['internal:marking=INTERNAL USE ONLY']);
  t.same(found('on Bluebird today', { internal: ['Bluebird'] }), ['internal:word=Bluebird']);
});

t.test('finds only the requested classes of data', async (t) => {
  const text = Buffer.from('CONFIDENTIAL jane@corp.io MRN: 00123456');
  const rules = (one: 'pii' | 'phi') =>
    findSensitive(text, { classes: new Set([one]), words: {} }).map((m) => m.class);
  t.same(rules('pii'), ['pii']);
  t.same(rules('phi'), ['phi']);
});

const numbersIn = (text: string) => findNumbers(Buffer.from(text, 'latin1'), text);

t.test('reads spans of every length to their end', async (t) => {
  for (const part of ['1', '12 ', '1-', '(1) ', '+1', '12.']) {
    for (let times = 1; times < 60; times += 1) numbersIn(part.repeat(times));
    for (let length = 1; length < 60; length += 1) numbersIn(part.repeat(60).slice(0, length));
  }
  t.pass('it came back');
});
