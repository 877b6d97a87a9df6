/**
 * The sections of the dashboard, in the order of its rail. A section is a row here and a file with its routes in
 * `Routes.ts`.
 */

/** A group of sections, with its title. The first has none. */
interface Group {
  readonly title?: string
  readonly sections: ReadonlyArray<Section>
}

interface Section {
  readonly path: string
  readonly title: string
  /** The beginnings of the paths of its screens that are not below its own path. */
  readonly holds?: ReadonlyArray<string>
}

export const groups: ReadonlyArray<Group> = [
  {
    sections: [
      {
        path: "/dashboard",
        title: "Drops",
        holds: [
          "/dashboard/new",
          "/dashboard/archive",
          "/dashboard/experiences",
          "/dashboard/mechanisms",
          "/dashboard/analytics"
        ]
      },
      { path: "/dashboard/catalogue", title: "Catalogue" },
      { path: "/dashboard/stocks", title: "Stocks" },
      { path: "/dashboard/pages", title: "Pages" },
      { path: "/dashboard/consumers", title: "Audience" },
      { path: "/dashboard/orders", title: "Orders" }
    ]
  },
  {
    title: "Build",
    sections: [
      { path: "/dashboard/webhooks", title: "Webhooks" },
      { path: "/dashboard/gates", title: "Gates" },
      { path: "/dashboard/keys", title: "Keys" }
    ]
  },
  {
    title: "Team",
    sections: [
      { path: "/dashboard/people", title: "People" },
      { path: "/dashboard/audit-log", title: "Activity" },
      { path: "/dashboard/organization", title: "Settings", holds: ["/dashboard/security-events"] },
      { path: "/dashboard/system", title: "System" }
    ]
  }
]

/** Returns whether a path is that of a screen in a section. */
export const isIn = ({ path, holds = [] }: Section, at: string): boolean =>
  at === path ||
  [...(path === "/dashboard" ? [] : [path]), ...holds].some((one) => at === one || at.startsWith(`${one}/`))
