/** The look of the widget. It takes font and colors from the page around it; `::part` changes the rest. */
export const style = `
:host{display:block;--line:color-mix(in srgb,currentColor 25%,transparent)}
:host([hidden]){display:none}
*{box-sizing:border-box}
.card{border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin-block:0 1rem}
h2{font-size:1.3em;margin:0 0 .75rem}
.big{font-size:2.2em;font-weight:700;margin:0;font-variant-numeric:tabular-nums}
.muted{opacity:.75}
label{display:block;margin-block:.5rem}
input,select,button,.button{font:inherit;min-height:44px;padding:.5rem .75rem;border:1px solid var(--line);border-radius:.5rem}
input,select{display:block;width:100%}
button,.button{display:inline-block;cursor:pointer;color:inherit;background:none}
[part~=button]{background:CanvasText;color:Canvas}
[role=alert]{border-inline-start:4px solid #a61414;padding-inline-start:.75rem}
nav a{display:inline-block;line-height:44px}
progress{width:100%}`
