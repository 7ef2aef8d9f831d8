/* The words of scripts in the language of the page. Django's catalogue of it is loaded before, except for English. */

const { django } = globalThis;

export const gettext = django?.gettext ?? ((text) => text);

export const ngettext = django?.ngettext ?? ((one, many, n) => (n === 1 ? one : many));

/** Put values in the places `%(name)s` of a text. */
export const fill = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);
