-- Students, what they handed in, every run, and what a TA decided. Times are UTC, ISO 8601.
CREATE TABLE students (
    key TEXT PRIMARY KEY,              -- their folder
    name TEXT NOT NULL,
    site_id TEXT NOT NULL DEFAULT '',  -- the course site's number
    sis_id TEXT NOT NULL DEFAULT '',
    login TEXT NOT NULL DEFAULT '',
    section TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE submissions (
    id INTEGER PRIMARY KEY,
    assignment TEXT NOT NULL,
    student TEXT NOT NULL REFERENCES students(key),
    digest TEXT NOT NULL,              -- of the files that count
    label TEXT NOT NULL,
    place INTEGER NOT NULL,            -- a later one has a higher place, among those of one student
    submitted_at TEXT,                 -- NULL: not known
    late_mark INTEGER NOT NULL DEFAULT 0,
    UNIQUE (assignment, student, digest)
) STRICT;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    submission INTEGER NOT NULL REFERENCES submissions(id),
    work TEXT NOT NULL,                -- hash of all that decides the result
    started_at TEXT NOT NULL,
    seconds REAL NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('graded', 'failed')),  -- failed: the grader, not the student
    message TEXT NOT NULL DEFAULT '',
    score INTEGER,
    max_score INTEGER,
    complete INTEGER,
    grader TEXT NOT NULL DEFAULT '',
    sandbox TEXT NOT NULL DEFAULT '',
    fixture_set TEXT NOT NULL DEFAULT '',
    fixtures TEXT NOT NULL DEFAULT '',
    problems TEXT NOT NULL DEFAULT '', -- of the submission, a line each
    CHECK ((status = 'graded') = (score IS NOT NULL))
) STRICT;
CREATE INDEX runs_of_submission ON runs(submission, id);

CREATE TABLE row_results (
    run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    row TEXT NOT NULL,
    title TEXT NOT NULL,
    points INTEGER NOT NULL,
    max_points INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE check_results (
    run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    row TEXT NOT NULL,
    "check" TEXT NOT NULL,
    verdict TEXT NOT NULL,
    explanation TEXT NOT NULL DEFAULT '',  -- the first sentence on why it failed
    fault TEXT NOT NULL DEFAULT '',        -- its id in the fault dictionary
    seconds REAL,
    PRIMARY KEY (run, row, "check")
) STRICT, WITHOUT ROWID;

-- A TA's word. It is never changed: a later one takes its place; one with NULL points takes it back.
CREATE TABLE overrides (
    id INTEGER PRIMARY KEY,
    assignment TEXT NOT NULL,
    student TEXT NOT NULL REFERENCES students(key),
    row TEXT NOT NULL DEFAULT '',          -- empty: the total
    points INTEGER,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;

-- What the late policy made of the submission that counts.
CREATE TABLE late_days (
    assignment TEXT NOT NULL,
    student TEXT NOT NULL REFERENCES students(key),
    days INTEGER NOT NULL,
    free INTEGER NOT NULL,
    percent TEXT NOT NULL,                 -- taken off, an exact decimal
    excused INTEGER NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (assignment, student)
) STRICT, WITHOUT ROWID;

-- The submission that counts is the newest; the run that counts is its newest that has a score.
CREATE VIEW counting AS
    SELECT s.assignment, s.student, s.id AS submission, s.label, s.digest, s.submitted_at, s.late_mark,
           (SELECT max(r.id) FROM runs r WHERE r.submission = s.id AND r.status = 'graded') AS run,
           (SELECT max(r.id) FROM runs r WHERE r.submission = s.id) AS last_run
    FROM submissions s
    WHERE s.id = (SELECT t.id FROM submissions t WHERE t.assignment = s.assignment AND t.student = s.student
                  ORDER BY t.place DESC, t.id DESC LIMIT 1);

CREATE VIEW standing_overrides AS
    SELECT o.* FROM overrides o
    WHERE o.points IS NOT NULL AND o.id = (SELECT max(p.id) FROM overrides p
        WHERE p.assignment = o.assignment AND p.student = o.student AND p.row = o.row);

-- Points of each row, a TA's word before the grader's.
CREATE VIEW row_points AS
    SELECT c.assignment, c.student, r.place, r.row, r.title, r.max_points, r.verdict, r.detail,
           coalesce(o.points, r.points) AS points, o.id AS override
    FROM counting c JOIN row_results r ON r.run = c.run
    LEFT JOIN standing_overrides o ON o.assignment = c.assignment AND o.student = c.student AND o.row = r.row;

CREATE VIEW gradebook AS
    SELECT c.assignment, c.student, st.name, st.site_id, st.sis_id, st.login, st.section,
           c.submission, c.label, c.submitted_at, c.late_mark, c.run, c.last_run,
           coalesce(o.points, (SELECT sum(p.points) FROM row_points p
                               WHERE p.assignment = c.assignment AND p.student = c.student), r.score) AS score,
           r.max_score, r.score AS graded, r.complete, r.sandbox, r.fixture_set, r.problems,
           l.status AS last_status, l.message AS last_message,
           d.days, d.free, coalesce(d.percent, '0') AS percent, coalesce(d.excused, 0) AS excused,
           coalesce(d.note, '') AS late_note
    FROM counting c JOIN students st ON st.key = c.student
    LEFT JOIN runs r ON r.id = c.run
    LEFT JOIN runs l ON l.id = c.last_run
    LEFT JOIN standing_overrides o ON o.assignment = c.assignment AND o.student = c.student AND o.row = ''
    LEFT JOIN late_days d ON d.assignment = c.assignment AND d.student = c.student;
