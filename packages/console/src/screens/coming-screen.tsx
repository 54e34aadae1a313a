/** In place of a screen that is not there yet: says so, and where the same is done until then. */

import { BookOpen, Hammer } from "lucide-react";
import { BASE_URL } from "../data/api.tsx";
import { Page, PageHeader } from "../ui/display.tsx";
import { Empty } from "../ui/states.tsx";

export interface ComingScreenProps {
  readonly title: string;
  readonly lead: string;
  /** Of the reference's operations. */
  readonly group: string;
}

export function ComingScreen({ title, lead, group }: ComingScreenProps) {
  return (
    <Page>
      <PageHeader title={title} lead={lead} />
      <Empty
        icon={<Hammer aria-hidden="true" />}
        title="This screen is not there yet"
        actions={
          <a href={`${BASE_URL}/docs#group-${group}`}>
            <BookOpen aria-hidden="true" /> Operations in the reference
          </a>
        }
      >
        The REST interface does all of it already; this page will grow here.
      </Empty>
    </Page>
  );
}
