/** `make`, called only where its arguments are not those of the last call: what many ask for at once is made once. */
export function rememberLast<Args extends readonly unknown[], Made>(
  make: (...args: Args) => Made,
): (...args: Args) => Made {
  let last: { readonly args: Args; readonly made: Made } | undefined;
  return (...args) => {
    if (last === undefined || last.args.some((one, at) => one !== args[at]))
      last = { args, made: make(...args) };
    return last.made;
  };
}
