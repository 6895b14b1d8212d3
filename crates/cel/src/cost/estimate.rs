//! Ranges of sizes and costs, with arithmetic that saturates.

/// How large a value can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a range has two ends")]
pub struct SizeEstimate {
    /// At least.
    pub min: u64,
    /// At most.
    pub max: u64,
}

/// How much an expression can cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a range has two ends")]
pub struct CostEstimate {
    /// At least.
    pub min: u64,
    /// At most.
    pub max: u64,
}

/// How much a call can cost, and how large its result can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "upstream's has these")]
pub struct CallEstimate {
    /// The cost of the call itself.
    pub cost: CostEstimate,
    /// The size of the result, if known.
    pub result_size: Option<SizeEstimate>,
}

impl SizeEstimate {
    /// The size of a value about which nothing is known.
    pub const UNKNOWN: Self = Self {
        min: 0,
        max: u64::MAX,
    };

    /// A size that is known.
    pub const fn fixed(size: u64) -> Self {
        Self {
            min: size,
            max: size,
        }
    }

    /// Adds two sizes.
    pub const fn plus(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    /// Multiplies two sizes.
    pub const fn times(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Returns the cost of visiting each element at a cost.
    pub const fn times_cost(self, cost: CostEstimate) -> CostEstimate {
        CostEstimate {
            min: self.min.saturating_mul(cost.min),
            max: self.max.saturating_mul(cost.max),
        }
    }

    /// Returns the cost of the size at a cost for each unit, rounded up.
    pub fn times_factor(self, factor: f64) -> CostEstimate {
        CostEstimate {
            min: scaled(self.min, factor),
            max: scaled(self.max, factor),
        }
    }

    /// Returns the range that contains both.
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

impl CostEstimate {
    /// A cost that is known.
    pub const fn fixed(cost: u64) -> Self {
        Self {
            min: cost,
            max: cost,
        }
    }

    /// Adds two costs.
    pub const fn plus(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    /// Multiplies two costs.
    pub const fn times(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Multiplies with a factor, rounded up.
    pub fn times_factor(self, factor: f64) -> Self {
        Self {
            min: scaled(self.min, factor),
            max: scaled(self.max, factor),
        }
    }

    /// Returns the range that contains both.
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

impl CallEstimate {
    /// A call whose cost is known.
    pub const fn fixed(cost: u64) -> Self {
        Self {
            cost: CostEstimate::fixed(cost),
            result_size: None,
        }
    }

    /// A call with a cost and a result that has no size.
    pub const fn of(cost: CostEstimate) -> Self {
        Self {
            cost,
            result_size: None,
        }
    }
}

/// Multiplies with a factor and rounds up, in floating point, as upstream does.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
pub(crate) fn scaled(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}
