/** The widget where there is no page: a server that renders a shop imports it, and nothing happens. */
// oxlint-disable-next-line unicorn/require-module-specifiers -- without it, the file would be no module
export {}
