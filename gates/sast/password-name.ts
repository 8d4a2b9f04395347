/** Whether a name says that what it holds is a password, and not the hash of one. */
export function namesPassword(name: string): boolean {
  return (
    name.length < 100 &&
    /(?:password|passwd|passphrase|passwort)\d?$|(?:^|_)(?:pwd|pass)$/i.test(name) &&
    !/hash|digest/i.test(name)
  );
}
