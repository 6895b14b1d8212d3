//! Controllers: reconcilers fed by shared informers through a work queue
