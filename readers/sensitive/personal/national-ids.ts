/** One kind of national number. `form` is sticky and tried where a number or a capital begins. */
export interface NationalId {
  readonly rule: string;
  readonly form: RegExp;
  /** Begins with a letter; the others with a digit. */
  readonly lettered?: true;
  /** Digits and letters of the match, without what separates them. */
  readonly isValid: (compact: string) => boolean;
  /** The digits alone are too common: one of these words must come shortly before them. */
  readonly near?: RegExp;
}

const checkLetters = 'TRWAGMYFPDXBNJZSQVHLCKE';
const hetuLetters = '0123456789ABCDEFHJKLMNPRSTUVWXY';

/**
 * National numbers with verifiable rules, from the issuers' publications. Numbers of nine to eleven bare digits match
 * only after a key word.
 */
export const nationalIds: readonly NationalId[] = [
  { rule: 'us-ssn', form: /\d{3}-\d{2}-\d{4}/y, isValid: isSocialSecurityNumber },
  {
    rule: 'us-ssn',
    form: /\d{3} ?\d{2} ?\d{4}/y,
    isValid: isSocialSecurityNumber,
    near: /\bssn\b|social security/i,
  },
  { rule: 'us-itin', form: /9\d{2}-(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])-\d{4}/y, isValid: () => true },
  {
    rule: 'de-tax-id',
    form: /[1-9]\d(?: ?\d{3}){3}/y,
    isValid: isGermanTaxId,
    near: /steuer-?(?:id|identifikation|nummer)|\bidnr\b|\btin\b|tax[ _-]?id/i,
  },
  {
    rule: 'fr-nir',
    form: /[1278] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}/y,
    isValid: isFrenchNir,
  },
  {
    rule: 'uk-nino',
    lettered: true,
    form: /[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]/y,
    isValid: (id) => !/^(?:BG|GB|KN|NK|NT|TN|ZZ)/.test(id),
  },
  {
    rule: 'es-dni',
    form: /\d{8}-?[A-HJ-NP-TV-Z]/y,
    isValid: (id) => checkLetters[Number(id.slice(0, 8)) % 23] === id[8],
  },
  {
    rule: 'es-nie',
    lettered: true,
    form: /[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z]/y,
    isValid: (id) => checkLetters[Number(`${'XYZ'.indexOf(id.charAt(0))}${id.slice(1, 8)}`) % 23] === id[8],
  },
  {
    rule: 'it-codice-fiscale',
    lettered: true,
    form: /[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPR-T][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]/y,
    isValid: isCodiceFiscale,
  },
  {
    rule: 'nl-bsn',
    form: /\d{4}[ .]?\d{2}[ .]?\d{3}|\d{3}[ .]?\d{3}[ .]?\d{3}/y,
    isValid: (id) => id !== '000000000' && weighted(id, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
    near: /\bbsn\b|burgerservice|sofi-?num/i,
  },
  {
    rule: 'be-nrn',
    form: /\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}/y,
    isValid: (id) =>
      [id, `2${id}`].some((one) => 97 - (Number(one.slice(0, -2)) % 97) === Number(id.slice(-2))),
  },
  {
    rule: 'pl-pesel',
    form: /\d{11}/y,
    isValid: (id) =>
      isMonthAndDay(Number(id.slice(2, 4)) % 20, Number(id.slice(4, 6))) &&
      weighted(id, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
    near: /pesel/i,
  },
  {
    rule: 'se-personnummer',
    form: /(?:19|20)?\d{6}[-+]\d{4}/y,
    isValid: (id) => {
      const short = id.slice(-10);
      const day = Number(short.slice(4, 6));
      return isMonthAndDay(Number(short.slice(2, 4)), day > 60 ? day - 60 : day) && passesLuhn(short);
    },
  },
  {
    rule: 'fi-hetu',
    form: /\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]/y,
    isValid: (id) => {
      const digits = id.replace(/^(\d{6})[-+A-FU-Y]?/, '$1');
      return (
        isMonthAndDay(Number(id.slice(2, 4)), Number(id.slice(0, 2))) &&
        hetuLetters[Number(digits.slice(0, 9)) % 31] === digits[9]
      );
    },
  },
  {
    rule: 'ch-ahv',
    form: /756\.?\d{4}\.?\d{4}\.?\d{2}/y,
    isValid: (id) => weighted(id, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
  },
  { rule: 'br-cpf', form: /\d{3}\.\d{3}\.\d{3}-\d{2}/y, isValid: isCpf },
  {
    rule: 'in-aadhaar',
    form: /[2-9]\d{3} ?\d{4} ?\d{4}/y,
    isValid: passesVerhoeff,
    near: /aadhaar|aadhar|\buidai\b/i,
  },
  {
    rule: 'ca-sin',
    form: /\d{3}[ -]?\d{3}[ -]?\d{3}/y,
    isValid: (id) => passesLuhn(id) && !/^[08]/.test(id),
    near: /\bsin\b|social insurance/i,
  },
];

/** Rules of the Social Security Administration: no area 000, 666 or 9xx, no group 00, no serial 0000. */
function isSocialSecurityNumber(id: string): boolean {
  return !/^(?:000|666|9)|^\d{3}00|0000$/.test(id);
}

/**
 * Eleven digits: exactly one digit of the first ten occurs two or three times (never three in a row), and the last is
 * a check digit.
 */
function isGermanTaxId(id: string): boolean {
  const counts = new Map<string, number>();
  for (const digit of id.slice(0, 10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return (
    repeated.length === 1 &&
    (repeated[0] ?? 0) <= 3 &&
    !/(\d)\1\1/.test(id.slice(0, 10)) &&
    passesMod11And10(id)
  );
}

/** Thirteen places and a key of two: 97 less the rest of the number by 97; 2A and 2B are Corsica. */
function isFrenchNir(id: string): boolean {
  const month = Number(id.slice(3, 5));
  if (!((month >= 1 && month <= 12) || (month >= 20 && month <= 42) || month >= 50)) return false;
  const number = id.slice(0, 13).replace('2A', '19').replace('2B', '18');
  return 97 - mod97(number) === Number(id.slice(13));
}

const oddValues = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

function isCodiceFiscale(id: string): boolean {
  let sum = 0;
  for (let place = 0; place < 15; place += 1) {
    const char = id.charAt(place);
    const value = char >= 'A' ? char.charCodeAt(0) - 65 : Number(char);
    // Places count from one: the first is odd.
    sum += place % 2 === 0 ? (oddValues[value] ?? 0) : value;
  }
  return id.charCodeAt(15) - 65 === sum % 26;
}

function isCpf(id: string): boolean {
  if (/^(\d)\1{10}$/.test(id)) return false;
  const digitAt = (length: number): number => {
    const sum = weighted(
      id,
      Array.from({ length }, (_, index) => length + 1 - index),
    );
    return ((sum * 10) % 11) % 10;
  };
  return digitAt(9) === Number(id[9]) && digitAt(10) === Number(id[10]);
}

/** Luhn (ISO/IEC 7812-1, annex B) over digits. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** ISO/IEC 7064 MOD 97-10, as IBAN uses it: letters count from A = 10. */
export function mod97(text: string): number {
  let rest = 0;
  for (const char of text) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}

/** Sum of digits times weights. */
export function weighted(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * Number(digits[index]), 0);
}

/** ISO/IEC 7064 MOD 11,10: the last digit checks those before it (German tax number). */
function passesMod11And10(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === Number(digits.at(-1));
}

const verhoeffRows =
  '0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 9876543210'.split(
    ' ',
  );
const verhoeffTurns =
  '0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258'.split(' ');

/** Verhoeff's check (Aadhaar). */
function passesVerhoeff(digits: string): boolean {
  let check = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    check = Number(verhoeffRows[check]?.[Number(verhoeffTurns[place % 8]?.[digit])]);
  }
  return check === 0;
}

/** Day and month exist; years are two digits in most national numbers. */
function isMonthAndDay(month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
